#!/usr/bin/env node
// The program is imported only after this look: an older Node.js cannot even link it, and would say so in riddles.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`holdfast needs Node.js 22.18 or later, and this is ${process.versions.node}.`);
  process.exit(1);
}
await import('./main.ts');

export {};
