import { createHash } from 'node:crypto';

import { parseSync, Visitor, type Program } from 'oxc-parser';

import { settle, settleAll, type GeneratedFile, type GenerateOptions } from '#crds/generated-file.ts';
import { familyOpcodes, matcherNames } from '#service/actions/families.ts';
import { DETECTION_VERSION } from '#service/interpreter/options.ts';
import { actionVersions, type ActionVersions, type FamilyVersion } from '#service/interpreter/versions.gen.ts';
import { readSources, type Source } from '#test/style/sources.ts';

const path = 'service/interpreter/versions.gen.ts';
const familiesPath = 'service/actions/families.ts';

/** Definitions of actions as the sources have them. */
export type FoundDefinitions = {
  /** Hash of the code that all families share. */
  readonly shared: string;
  readonly order: readonly string[];
  readonly families: Readonly<Record<string, Pick<FamilyVersion, 'hash' | 'opcodes'>>>;
};

/** Writes versions of actions. A changed definition gets the next version; with `--same-rows` it keeps its version. */
export async function generateInterpretationVersions(options: GenerateOptions): Promise<GeneratedFile[]> {
  const isSame = process.argv.includes('--same-rows');
  const next = nextVersions(
    actionVersions,
    foundDefinitions(readSources('service/actions')),
    DETECTION_VERSION,
    isSame,
  );
  return [await settle(path, textOf(next), options)];
}

/**
 * Returns the versions after a change of definitions (service/interpreter/README.md#versions).
 * @param isSame true: no row of an indexed block changes
 */
export function nextVersions(
  before: ActionVersions,
  found: FoundDefinitions,
  detection: number,
  isSame = false,
): ActionVersions {
  const all = [before.shared, ...Object.values(before.families)].map(({ version }) => version);
  const next = Math.max(detection, ...all) + 1;
  const isShared = found.shared !== before.shared.hash || !isInOrder(before.order, found.order);
  const names = [...new Set([...Object.keys(before.families), ...Object.keys(found.families)])].toSorted();
  return {
    shared: { version: isShared && !isSame ? next : before.shared.version, hash: found.shared },
    order: found.order,
    families: Object.fromEntries(
      names.map((name) => [name, nextFamily(before.families[name], found.families[name], isSame ? undefined : next)]),
    ),
  };
}

/** A family that has gone keeps its opcodes: its earlier actions must go too. */
function nextFamily(
  before: FamilyVersion | undefined,
  found: FoundDefinitions['families'][string] | undefined,
  next: number | undefined,
): FamilyVersion {
  const { hash, opcodes } = found ?? { hash: '', opcodes: before!.opcodes };
  if (before === undefined) return { version: next ?? 0, hash, opcodes };
  if (before.hash === hash) return before;
  return { version: next ?? before.version, hash, opcodes: joinOpcodes(before.opcodes, opcodes) };
}

/** Earlier opcodes stay: a block may have an action by an earlier pattern. */
function joinOpcodes(before: FamilyVersion['opcodes'], found: FamilyVersion['opcodes']): FamilyVersion['opcodes'] {
  return before === null || found === null ? null : ascending([...before, ...found]);
}

function ascending(opcodes: Iterable<number>): number[] {
  return [...new Set(opcodes)].toSorted((one, other) => one - other);
}

/** True if matchers of both lists have the same order in both. */
function isInOrder(before: readonly string[], found: readonly string[]): boolean {
  const [old, recent] = [new Set(before), new Set(found)];
  return before.filter((name) => recent.has(name)).join() === found.filter((name) => old.has(name)).join();
}

/** Hashes the sources of actions. A family has its own file with all that it imports of protocols and operations. The other files are shared. */
export function foundDefinitions(sources: readonly Source[]): FoundDefinitions {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const files = familyFiles(byPath.get(familiesPath)!);
  const reached = new Set([familiesPath]);
  const families = [...familyOpcodes].map(([name, opcodes]) => {
    const file = files.get(name);
    if (file === undefined)
      throw new TypeError(`${familiesPath}: expected an import of the family ${name} by its name`);
    const own = reachedFrom(file, byPath);
    for (const source of own) reached.add(source.path);
    return [name, { hash: hashOf(own), opcodes: opcodes === undefined ? null : ascending(opcodes) }] as const;
  });
  return {
    shared: hashOf(sources.filter(({ path: file }) => !reached.has(file))),
    order: matcherNames,
    families: Object.fromEntries(families),
  };
}

/** Files by the names that an import gives to their exports. */
function familyFiles({ text, imports }: Source): ReadonlyMap<string, string> {
  const target = new Map(imports.map((each) => [each.specifier, each.target]));
  const names = [...text.matchAll(/^import \{ (\w+) \} from '(.+)';$/gm)];
  return new Map(names.map(([, name = '', specifier = '']) => [name, target.get(specifier) ?? '']));
}

function reachedFrom(start: string, byPath: ReadonlyMap<string, Source>): readonly Source[] {
  const reached = new Set([start]);
  for (const file of reached) {
    for (const { target } of byPath.get(file)?.imports ?? []) {
      if (target !== undefined && /\/(protocols|operations)\//.test(target) && byPath.has(target)) reached.add(target);
    }
  }
  return [...reached].toSorted().flatMap((file) => byPath.get(file) ?? []);
}

/** Hash of code. Comments, indentation, empty lines and the words for people do not count: they change no row. */
function hashOf(sources: readonly Source[]): string {
  const hash = createHash('sha256');
  for (const { path: file, text } of sources) hash.update(`${file}\n${codeOf(file, text)}\n`);
  return hash.digest('hex').slice(0, 16);
}

function codeOf(file: string, text: string): string {
  const { comments, program } = parseSync(file, text);
  let code = '';
  let at = 0;
  for (const { start, end } of [...comments, ...wordsIn(program, text)].toSorted(
    (one, other) => one.start - other.start,
  )) {
    code += text.slice(at, start);
    at = end;
  }
  const lines = `${code}${text.slice(at)}`.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

type Span = { readonly start: number; readonly end: number };

/** Properties `words` of types of actions, with their commas. */
function wordsIn(program: Program, text: string): Span[] {
  const found: Span[] = [];
  new Visitor({
    Property({ key, start, end }) {
      if (key.type !== 'Identifier' || key.name !== 'words') return;
      found.push({ start, end: text[end] === ',' ? end + 1 : end });
    },
  }).visit(program);
  return found;
}

function textOf({ shared, order, families }: ActionVersions): string {
  return `/** Version of a definition, and the hash of its code. */
export type DefinitionVersion = { readonly version: number; readonly hash: string };

/** Version of a family. Opcodes are those of all its versions; null: any block may have something of the family. */
export type FamilyVersion = DefinitionVersion & { readonly opcodes: readonly number[] | null };

export type ActionVersions = {
  readonly shared: DefinitionVersion;
  /** Matchers by precedence. */
  readonly order: readonly string[];
  readonly families: Readonly<Record<string, FamilyVersion>>;
};

/** Generated from service/actions by npm run generate (service/interpreter/README.md#versions). */
export const actionVersions: ActionVersions = ${JSON.stringify({ shared, order, families })};
`;
}

if (import.meta.main) await settleAll(generateInterpretationVersions);
