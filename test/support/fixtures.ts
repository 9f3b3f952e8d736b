import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const projectRoot = resolve(import.meta.dirname, '../..');
const ownVectors = join(projectRoot, 'test/vectors');

/**
 * The folder of recorded data that comparisons read, absolute: `TONPLANE_FIXTURES` when set, else `../shared/fixtures`
 * beside the project, else the project's own part of it, `test/vectors`. Every file of a kind in it is read, none by
 * name, so that the same tests run on other recordings of the same form.
 */
export const fixturesDir: string = chooseFixturesDir();

/**
 * Folders below the fixtures that hold a recorded network: each has a masterchain zerostate and a block tape. The project's
 * own recording when there is none, so that what needs any network always has one.
 */
export function recordingDirs(): string[] {
  const found = [fixturesDir, ...subfolders(fixturesDir)].filter(isRecording);
  return found.length > 0 ? found : subfolders(ownVectors).filter(isRecording);
}

/** Files, absolute and sorted, anywhere below the fixtures (or below `folder` in them) whose path matches. */
export function fixtureFiles(pattern: RegExp, folder = ''): string[] {
  return walk(join(fixturesDir, folder))
    .filter((file) => pattern.test(file))
    .toSorted();
}

function isRecording(folder: string): boolean {
  return existsSync(join(folder, 'zerostate-masterchain.boc')) && filesIn(folder, /^blocks\.jsonl(\.gz)?$/).length > 0;
}

function chooseFixturesDir(): string {
  const named = process.env['TONPLANE_FIXTURES'];
  if (named !== undefined && named !== '') {
    const folder = resolve(projectRoot, named);
    if (!existsSync(folder)) throw new Error(`TONPLANE_FIXTURES: expected a folder, found nothing at ${folder}`);
    return folder;
  }
  const shared = resolve(projectRoot, '../shared/fixtures');
  return existsSync(shared) ? shared : ownVectors;
}

function subfolders(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isDirectory());
}

function filesIn(folder: string, pattern: RegExp): string[] {
  return readdirSync(folder).filter((name) => pattern.test(name));
}

function walk(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
