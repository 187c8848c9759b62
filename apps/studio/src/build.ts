import { readFile } from 'node:fs/promises';
import { build } from 'vite';

const source = new URL('./page/', import.meta.url);

/** Builds the page: the texts of `index.html`, `page.js` and `page.css`. */
export async function buildPage(): Promise<readonly [html: string, script: string, css: string]> {
  const built = await build({
    configFile: false,
    root: source.pathname,
    logLevel: 'warn',
    // One file, read by a browser of the last years.
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input: new URL('main.ts', source).pathname },
    },
  });
  const outputs = Array.isArray(built) ? built.flatMap(({ output }) => output) : 'output' in built ? built.output : [];
  const script = outputs.find((output) => output.type === 'chunk');
  if (script === undefined || outputs.length !== 1) throw new Error(`expected one script, got ${outputs.length} files`);
  const [html, css] = await Promise.all(
    ['index.html', 'page.css'].map((name) => readFile(new URL(name, source), 'utf8')),
  );
  return [html ?? '', script.code, css ?? ''];
}
