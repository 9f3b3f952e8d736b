import type { Socket } from 'node:net';

/** Creates a write to `socket` that sends all bytes of one turn of the event loop in one system call. */
export function batchedWrites(socket: Socket): (bytes: Buffer) => void {
  let corked = false;
  const uncork = (): void => {
    corked = false;
    socket.uncork();
  };
  return (bytes) => {
    if (!corked) {
      corked = true;
      socket.cork();
      setImmediate(uncork);
    }
    socket.write(bytes);
  };
}
