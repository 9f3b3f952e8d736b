/** CPU that this thread has used, in milliseconds, to compare with a later value: other work of the machine does not count. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
