import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { sourceFiles } from './files.ts';

/** Writes the files of the explorer for the image, in the form that a browser loads. `npm run build` runs it. */
const folder = process.argv[2] ?? 'dist/explorer';
const files = sourceFiles();
for (const path of await files.list()) {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, await files.read(path));
}
