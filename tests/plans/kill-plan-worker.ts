// A process that runs the plan of `test-kill-plan.ts`, or resumes it, until it has ended or the process does: `node
// kill-plan-worker.ts FOLDER [FATAL]`. FATAL is an operation on files at which it ends itself. Its last line is `ended STATUS OPERATIONS`.
import { writeSync } from 'node:fs';
import { resumePlan, runPlan } from '@holdfast/orchestrator';
import { countOperations, type Fatal } from '../logs/recovery-kills-operations.ts';
import { openLife } from './test-kill-plan.ts';

const [folder = '', fatal] = process.argv.slice(2);
// Its own output counts for nothing.
const write = writeSync;
const count = await countOperations(fatal === undefined ? { at: -1, half: false } : (JSON.parse(fatal) as Fatal));
const { session, options, plan } = await openLife(folder);
const begun = [...session.records()].some(({ type }) => type === 'plan-start');
write(1, `opened ${begun}\n`);
const over = begun && session.openWork().plans.length === 0;
const trace = over ? undefined : await (begun ? resumePlan(options) : runPlan(plan, options));
await session.close();
write(1, `ended ${trace?.status ?? 'before'} ${count()}\n`);
