// npm run sizes: measures the built packages, and makes that the budgets.
import { writeFile } from 'node:fs/promises';
import { formatLoads, measureLoads } from './loads.ts';
import { budgetsPath, formatSizes, measureSizes } from './sizes.ts';

const table = formatSizes(await measureSizes()) + formatLoads(await measureLoads());
await writeFile(budgetsPath, table);
console.log(table.slice(table.indexOf('| ')));
