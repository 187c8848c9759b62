// A process that makes governed calls until it is killed, for tests: `node recovery-kills-worker.ts HOME`. On its
// standard output it says, a line each and before it does anything else: `opening`; `opened N`, with the records that it found;
// `record N` of every record that it wrote; `ready` when it has recovered and all is consistent; `outcome KEY KIND` of every call.
import { writeSync } from 'node:fs';
import { findInconsistencies } from './recovery-kills-check.ts';
import { type Home, openLife, recoverLife, workOn } from './recovery-kills-life.ts';

const [json = '', onlyOnce] = process.argv.slice(2);
const home = JSON.parse(json) as Home;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

say('opening');
const life = openLife(home);
say(`opened ${life.found}`);
life.session.subscribe(({ seq }) => say(`record ${seq}`));
await recoverLife(life);
const wrong = findInconsistencies(life.session.records(), home.folder);
if (wrong.length > 0) throw new Error(wrong.join('\n'));
say('ready');
if (onlyOnce === undefined) await workOn(life, home, (key, kind) => say(`outcome ${key} ${kind}`));
