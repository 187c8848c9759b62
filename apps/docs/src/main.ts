// `npm run docs` builds the guide into dist/; `npm run docs -- serve` serves it locally without a build; `npm run docs -- record` draws
// the recording of the first page anew.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, createServer } from 'vitepress';
import { assemble } from './assemble.ts';
import { recordDemo } from './recording.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const command = process.argv.slice(2).join(' ');

if (!['', 'serve', 'record'].includes(command)) {
  console.error(`docs: expected nothing, \`serve\` or \`record\`, got \`${command}\`.`);
  process.exit(2);
}
if (command === 'record') {
  writeFileSync(`${root}guide/recordings/demo.svg`, recordDemo());
  process.exit();
}
await assemble(root);
if (command === 'serve') {
  const server = await createServer(root, { host: '127.0.0.1', port: 4173 });
  await server.listen();
  server.printUrls();
} else {
  await build(root);
  console.log('Built apps/docs/dist. Serve it with `npm run docs -- serve`.');
}
