// What the servers of these tests have in common: their tools are the lines of a file, one more for each line that is added.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const names = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean);

export const description = (name) => `The tool ${name}`;

// Calls add(name) for each tool, now and as soon as there is one more, until the process ends.
export function growing(file, add) {
    const known = new Set();
    const look = () => {
        for (const name of names(file).filter((each) => !known.has(each))) {
            known.add(name);
            add(name);
        }
    };
    look();
    setInterval(look, 20);
    return known;
}

// A program over stdio: so that a test can end it. A slow machine has two of them started, of which one is kept.
export function tellPid(file) {
    appendFileSync(file, `${process.pid}\n`);
}

// Kills those that wrote to the file and still run.
export function killTold(file) {
    for (const pid of names(file)) {
        try {
            process.kill(Number(pid), 'SIGKILL');
        } catch (error) {
            if (error.code !== 'ESRCH') {
                throw error;
            }
        }
    }
    writeFileSync(file, '');
}

// A server over HTTP: says on standard output where it is. `port` 0: any.
export function listen(port, handler) {
    const server = createServer(handler).listen(Number(port), '127.0.0.1', () => {
        process.stdout.write(`listening ${server.address().port}\n`);
    });
}
