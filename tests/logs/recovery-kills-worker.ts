// A process that makes governed calls until it is killed, for tests: `node recovery-kills-worker.ts HOME [STEPS [FATAL]]`. On its
// standard output it says, a line each and before it does anything else: `opening`; `opened N`, with the records that it found;
// `record N` of every record that it wrote; `ready` when it has recovered and all is consistent; `outcome KEY KIND` of every call;
// `operations N` after STEPS calls. FATAL is an operation on files at which it ends itself.
import { writeSync } from 'node:fs';
import { findInconsistencies } from './recovery-kills-check.ts';
import { type Home, openLife, recoverLife, workOn } from './recovery-kills-life.ts';
import { countOperations, type Fatal } from './recovery-kills-operations.ts';

const [json = '', steps = 'Infinity', fatal] = process.argv.slice(2);
const home = JSON.parse(json) as Home;

// Its own output counts for nothing.
const write = writeSync;
function say(line: string): void {
  write(1, `${line}\n`);
}

const count = fatal === undefined ? () => 0 : await countOperations(JSON.parse(fatal) as Fatal);
say('opening');
const life = openLife(home);
say(`opened ${life.found}`);
life.session.subscribe(({ seq }) => say(`record ${seq}`));
await recoverLife(life);
const wrong = findInconsistencies(life.session.records(), home.folder);
if (wrong.length > 0) throw new Error(wrong.join('\n'));
say('ready');
await workOn(life, home, { steps: Number(steps), told: (key, kind) => say(`outcome ${key} ${kind}`) });
await life.session.close();
say(`operations ${count()}`);
