// npm run errors: writes the tables of the guide's page of errors from the `errors.json` of the packages.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorPage, writeErrorPage } from './error-page.ts';
import { readRepository } from './repository.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const repository = await readRepository(root);
const text = writeErrorPage(repository);
await writeFile(join(root, errorPage), text);
if (repository.files.get(errorPage) !== text) console.log(`wrote ${errorPage}`);
