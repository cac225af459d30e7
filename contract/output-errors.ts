/**
 * Ignores errors on standard output and standard error, which would end the process if the terminal
 * has closed, no process reads the pipe, or the disk is full. The log handles its own output.
 */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
