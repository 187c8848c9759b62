import { saveModuleWith } from './save.ts';

/** A process that saves modules in a folder. On request it kills itself after a step, or reports each save. */
const [directory = '', ids = '', version = '', killAfter, tell] = process.argv.slice(2);
for (const id of ids.split(',')) {
  const definition = {
    module_id: id,
    predictor_type: 'predict',
    signature_name: 'npc.merchant',
    demos: [],
    tool_enabled: false,
    metadata: { version },
  } as const;
  await saveModuleWith(directory, definition, {
    waitMs: 60_000,
    onStep: (step) => {
      if (step === killAfter) process.kill(process.pid, 'SIGKILL');
    },
  });
  if (tell !== undefined) process.stdout.write(`${id}\n`);
}
