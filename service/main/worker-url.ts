const isSource = import.meta.url.endsWith('.ts');

/** Returns the URL of a module for threads: next to the sources (`tvm/worker.ts`), or next to the bundle (`worker.js`). */
export function workerUrl(module: string): URL {
  const path = isSource ? `../${module}` : `./${module.slice(module.lastIndexOf('/') + 1).replace(/\.ts$/, '.js')}`;
  return new URL(path, import.meta.url);
}
