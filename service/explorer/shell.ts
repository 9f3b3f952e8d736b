/** Style sheets of every page. */
export const styles = ['app/explorer.css'];

/** The module that starts the application. */
export const entry = 'app/main.ts';

/** Picture of the tab. */
const icon = 'app/icon.svg';

/**
 * The HTML of every page. It has no script and no style of its own: the policy allows files alone.
 * @param modules paths of all modules that the entry needs, which the browser requests at once
 */
export function renderShell(modules: readonly string[]): string {
  const preloads = modules.map((path) => `<link rel="modulepreload" href="/explorer/${path}">`);
  const sheets = styles.map((path) => `<link rel="stylesheet" href="/explorer/${path}">`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>TON explorer</title>
${[...sheets, `<link rel="icon" type="image/svg+xml" href="/explorer/${icon}">`, ...preloads].join('\n')}
</head>
<body>
<div id="app"><p role="status">Loading</p></div>
<noscript><p>The explorer needs JavaScript. The same data is in the answers of the <a href="/api/v2">v2</a> and <a href="/api/v3">v3</a> APIs.</p></noscript>
<script type="module" src="/explorer/${entry}"></script>
</body>
</html>
`;
}

/**
 * Policy of the pages: files, pictures and answers of this origin alone, and pictures from `data:` URLs.
 * @param origins further origins that answer the application
 */
export function explorerPolicy(origins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
