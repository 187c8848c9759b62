// Measures one benchmark in its own process, on the built packages as users get them, and prints its reports as JSON.
import { measureAgentDojo } from './agentdojo/measure.ts';
import { partMeasures } from './call-path/measure.ts';
import { measureDurable } from './durable/measure.ts';
import { measureFacts } from './facts.ts';
import { measureFrameworks } from './frameworks.ts';
import { allGuardRounds, measureGuard } from './guard.ts';
import { measureImport } from './import.ts';
import { measureInstall } from './install.ts';
import { measureLoader } from './loader/measure.ts';
import { measureLocal } from './local/measure.ts';
import { measureMcp } from './mcp.ts';
import { measureModules } from './modules/measure.ts';
import { measureOrchestrator } from './orchestrator/measure.ts';
import { measureOtel } from './otel.ts';
import { measurePolicies } from './policies/measure.ts';
import { measureRender } from './render/measure.ts';
import type { Report } from './report.ts';
import { measureSize } from './size.ts';
import { measureStores } from './stores/measure.ts';
import { measureStudio } from './studio.ts';

const [, , chosen = '', size] = process.argv;
const isFull = size === '--full';

const alone = new Map<string, () => Promise<Report>>([
  ...partMeasures,
  ['facts', measureFacts],
  ['frameworks', measureFrameworks],
  ['guard', () => measureGuard(isFull ? allGuardRounds : undefined)],
  ['mcp', measureMcp],
  ['otel', measureOtel],
  ['studio', () => measureStudio()],
  ['render', measureRender],
  ['import', measureImport],
  ['size', measureSize],
  ['install', measureInstall],
]);

async function measure(name: string): Promise<readonly Report[]> {
  if (name === 'stores') return await measureStores();
  if (name === 'durable') return await measureDurable();
  if (name === 'loader') return await measureLoader();
  if (name === 'policies') return await measurePolicies();
  if (name === 'orchestrator') return await measureOrchestrator();
  if (name === 'local') return await measureLocal();
  if (name === 'agentdojo') return await measureAgentDojo();
  if (name === 'modules') return await measureModules();
  const measureOne = alone.get(name);
  if (measureOne === undefined) throw new Error(`unknown benchmark \`${name}\``);
  return [await measureOne()];
}

console.log(JSON.stringify(await measure(chosen)));
