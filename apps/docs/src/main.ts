// Builds the guide. `npm run docs` writes it to dist/; `npm run docs -- serve` then shows it on this machine.
import { fileURLToPath } from 'node:url';
import { build, serve } from 'vitepress';
import { assemble } from './assemble.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const [command, ...rest] = process.argv.slice(2);

if (rest.length > 0 || (command !== undefined && command !== 'serve')) {
  console.error(`docs: expected nothing or \`serve\`, got \`${process.argv.slice(2).join(' ')}\`.`);
  process.exit(2);
}
await assemble(root);
await build(root);
if (command === 'serve') {
  const port = 4173;
  await serve({ root, port });
  console.log(`The guide is at http://127.0.0.1:${port}/ until Ctrl-C.`);
} else {
  console.log('The guide is in apps/docs/dist; `npm run docs -- serve` shows it.');
}
