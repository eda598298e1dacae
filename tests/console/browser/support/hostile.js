// What somebody says who wants the page to do something.
export const markup = "<img src=x onerror=alert(1)><script>alert(2)</script>";
export const evil = `${markup}\u202eevil\u2066\u001b[31m\u0007`;
export const long = `${evil}${"n".repeat(65536)}`;
