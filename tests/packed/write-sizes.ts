// npm run sizes: measures the built packages, and makes that the budgets.
import { writeFile } from 'node:fs/promises';
import { budgetsPath, formatSizes, measureSizes } from './sizes.ts';

const table = formatSizes(await measureSizes());
await writeFile(budgetsPath, table);
console.log(table.slice(table.indexOf('| ')));
