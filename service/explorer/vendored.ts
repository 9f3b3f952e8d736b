/** A file of a package that the browser loads. */
export type VendoredFile = {
  /** Name below `/explorer/vendor/`. */
  readonly name: string;
  /** Package whose entry point is beside the file. */
  readonly beside: string;
  /** Name in an import. */
  readonly specifier: string;
};

export const vendoredFiles: readonly VendoredFile[] = [
  { name: 'preact.mjs', beside: 'preact', specifier: 'preact' },
  { name: 'hooks.mjs', beside: 'preact/hooks', specifier: 'preact/hooks' },
  { name: 'htm.mjs', beside: 'htm', specifier: 'htm' },
  { name: 'd3-hierarchy.min.mjs', beside: 'd3-hierarchy', specifier: 'd3-hierarchy' },
  { name: 'qrcode.mjs', beside: 'qrcode-generator', specifier: 'qrcode-generator' },
];

const pathBySpecifier: ReadonlyMap<string, string> = new Map(
  vendoredFiles.map(({ name, specifier }) => [specifier, `vendor/${name}`]),
);

/** Names that a module of the explorer may import from packages. */
export const vendoredSpecifiers: readonly string[] = [...pathBySpecifier.keys()];

/** Text before the quoted specifier of a static or dynamic import. */
const importedName = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])([^"'\n]+)\2/g;

/** Replaces the names of packages in imports by URLs. A browser without an import map knows no names. */
export function withVendorUrls(code: string): string {
  return code.replaceAll(importedName, (whole, before: string, quote: string, name: string) => {
    const path = pathBySpecifier.get(name);
    return path === undefined ? whole : `${before}${quote}/explorer/${path}${quote}`;
  });
}

/** A static import of a neighbour or of a vendored file. An import of types alone loads nothing. */
const staticImport =
  /^(?:import|export)(?!\s+type\b)[^;'"]*\bfrom\s*["']((?:\.{1,2}|\/explorer\/vendor)\/[\w./-]+)["']/gm;

/**
 * Paths that a module imports, below `/explorer/`.
 * @param path of the module: `app/main.ts`
 * @param code with URLs of vendored files, with or without its types
 */
export function importedPaths(path: string, code: string): string[] {
  const base = new URL(path, 'http://explorer/explorer/');
  return [...code.matchAll(staticImport)].map(([, name = '']) =>
    new URL(name, base).pathname.slice('/explorer/'.length),
  );
}
