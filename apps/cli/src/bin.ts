#!/usr/bin/env node
import { readFileSync } from 'node:fs';

// Checked before the program is imported: another runtime, or an older Node.js, cannot even link it and would fail with an obscure error.
const { node, bun, deno } = process.versions;
const other = bun === undefined ? deno && `Deno ${deno}` : `Bun ${bun}`;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (other !== undefined || major < 22 || (major === 22 && minor < 18)) {
  const hint =
    other === undefined
      ? ' Install it from https://nodejs.org, or with `nvm install 24`.'
      : ' Start it with `npx holdfast`, or with `bunx holdfast` without `--bun`.';
  console.error(`holdfast requires Node.js 22.18 or later; this is ${other ?? node}.${hint}`);
  process.exit(1);
}
// Answered without loading the program.
const [word, ...others] = process.argv.slice(2);
if (others.length === 0 && word === '--version') {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  console.log(manifest.version);
} else if (others.length === 0 && (word === '--help' || word === '-h' || word === 'help')) {
  const { formatHelp, ownCommand } = await import('./help.ts');
  console.log(formatHelp({ command: ownCommand, columns: process.stdout.columns }).trimEnd());
} else {
  const { cacheCompiled } = await import('./user/compiled.ts');
  cacheCompiled({ environment: process.env, directory: process.cwd() });
  await import('./main.ts');
}
