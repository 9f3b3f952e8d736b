import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder as a kubelet mounts a ConfigMap or a Secret: names that point through `..data`, which is swapped for the next version in one step. */
export type MountedFolder = {
  readonly path: string;
  file(name: string): string;
  /** Makes these the files of the folder; names stay until the folder is removed. */
  put(files: Readonly<Record<string, string | Buffer>>): void;
  remove(): void;
};

export function mountFolder(files: Readonly<Record<string, string | Buffer>>): MountedFolder {
  const path = mkdtempSync(join(tmpdir(), 'tonplane-mounted-'));
  const named = new Set<string>();
  let version = 0;
  const put = (next: Readonly<Record<string, string | Buffer>>): void => {
    const folder = `..version_${++version}`;
    mkdirSync(join(path, folder));
    for (const [name, content] of Object.entries(next)) writeFileSync(join(path, folder, name), content);
    symlinkSync(folder, join(path, '..data_tmp'));
    renameSync(join(path, '..data_tmp'), join(path, '..data'));
    for (const name of Object.keys(next)) {
      if (!named.has(name)) symlinkSync(join('..data', name), join(path, name));
      named.add(name);
    }
    for (const name of named) {
      if (name in next) continue;
      rmSync(join(path, name));
      named.delete(name);
    }
    if (version > 1) rmSync(join(path, `..version_${version - 1}`), { recursive: true });
  };
  put(files);
  return { path, file: (name) => join(path, name), put, remove: () => rmSync(path, { recursive: true }) };
}
