// `npm run docs` builds the guide into dist/; `npm run docs -- serve` serves it locally without a build.
import { fileURLToPath } from 'node:url';
import { build, createServer } from 'vitepress';
import { assemble } from './assemble.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const command = process.argv.slice(2).join(' ');

if (!['', 'serve'].includes(command)) {
  console.error(`docs: expected nothing or \`serve\`, got \`${command}\`.`);
  process.exit(2);
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
