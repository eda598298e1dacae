// Waiting for events. Nothing in these tests sleeps: whatever does not happen in time is a failure that says what it was.

const patience = 10_000; // milliseconds

export async function within(promise, what, milliseconds = patience) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no ${what} within ${milliseconds} ms`)), milliseconds);
    });
    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}

// All events of a stream.
export async function all(stream, what) {
    const events = [];
    const read = async () => {
        for await (const event of stream) {
            events.push(event);
        }
    };
    await within(read(), what);
    return events;
}

// A list that is appended to by events, and a promise for its next entry that satisfies a predicate.
export class Happenings {
    all = [];
    #waiting = new Set();

    add(entry) {
        this.all.push(entry);
        for (const waiter of this.#waiting) {
            if (waiter.wanted(entry)) {
                this.#waiting.delete(waiter);
                waiter.resolve(entry);
            }
        }
    }

    // Also satisfied by what has happened already.
    wanted(wanted, what) {
        const past = this.all.find(wanted);
        if (past !== undefined) {
            return Promise.resolve(past);
        }
        return within(new Promise((resolve) => this.#waiting.add({ wanted, resolve })), what);
    }
}

// Lets a test decide when a task takes its next step.
export class StepGate {
    #tasks = new Map();

    // Resolves with 'go' or 'cancel'.
    wait(taskId) {
        return this.#of(taskId).promise;
    }

    go(taskId) {
        this.#of(taskId).resolve('go');
    }

    cancel(taskId) {
        this.#of(taskId).resolve('cancel');
    }

    cancelAll() {
        for (const taskId of this.#tasks.keys()) {
            this.cancel(taskId);
        }
    }

    #of(taskId) {
        if (!this.#tasks.has(taskId)) {
            let resolve;
            const promise = new Promise((done) => {
                resolve = done;
            });
            this.#tasks.set(taskId, { promise, resolve });
        }
        return this.#tasks.get(taskId);
    }
}
