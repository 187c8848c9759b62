// Measures one benchmark in a process of its own, on the built packages as users get them, and prints it as JSON.
import { measureCall } from './call.ts';
import { measureImport } from './import.ts';
import { measureInstall } from './install.ts';
import { measureLoop } from './loop.ts';
import type { Report } from './report.ts';
import { measureSize } from './size.ts';

const measures = new Map<string, () => Promise<Report>>([
  ['call', measureCall],
  ['loop', measureLoop],
  ['import', measureImport],
  ['size', measureSize],
  ['install', measureInstall],
]);

const name = process.argv[2] ?? '';
const measure = measures.get(name);
if (measure === undefined) throw new Error(`there is no benchmark \`${name}\``);
console.log(JSON.stringify(await measure()));
