const isSource = import.meta.url.endsWith('.ts');

/** A module that runs in threads: beside the sources (`tvm/worker.ts`), or beside the bundle (`worker.js`). */
export function workerUrl(module: string): URL {
  const path = isSource ? `../${module}` : `./${module.slice(module.lastIndexOf('/') + 1).replace(/\.ts$/, '.js')}`;
  return new URL(path, import.meta.url);
}
