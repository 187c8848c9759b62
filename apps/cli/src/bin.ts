#!/usr/bin/env node
import { readFileSync } from 'node:fs';

// The program is imported only after this look: another runtime, or an older Node.js, cannot even link it, and would say so in riddles.
const { node, bun, deno } = process.versions;
const other = bun === undefined ? deno && `Deno ${deno}` : `Bun ${bun}`;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (other !== undefined || major < 22 || (major === 22 && minor < 18)) {
  const hint = other === undefined ? '' : ' Start it with `npx holdfast`, or with `bunx holdfast` without `--bun`.';
  console.error(`holdfast needs Node.js 22.18 or later, and this is ${other ?? node}.${hint}`);
  process.exit(1);
}
// Asked by scripts more often than by people: nothing else has to be loaded for it.
if (process.argv.length === 3 && process.argv[2] === '--version') {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  console.log(manifest.version);
} else await import('./main.ts');
