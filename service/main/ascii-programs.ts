import { readFileSync, writeFileSync } from 'node:fs';

// Writes the letters outside of ASCII in built programs as escapes: V8 stores a source with a single such letter in two bytes a letter.
// esbuild escapes them in strings. They are left in regular expressions and in comments, where an escape means the same.

for (const path of process.argv.slice(2)) {
  const text = readFileSync(path, 'utf8');
  const escaped = text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (escaped !== text) writeFileSync(path, escaped);
}
