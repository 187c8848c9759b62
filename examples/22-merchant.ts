// A merchant defined in a file: she haggles with tools, under policies, and her mood changes while the program runs. A script plays her, or any
// model: `npm run examples -- 22 --model FILE`, a .ts or .js file whose default export is a model, such as `aiSdkModel(openai('gpt-5'))`.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createModuleEngine, type ToolLoopResult } from '@holdfast/modules';
import { folderModules, saveModule } from '@holdfast/modules/node';
import { requireApproval, sequentialDependency } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import { loadModel, readModelOption } from './merchant/load-model.ts';
import { haggling } from './merchant/script.ts';
import { merchant, purse, shopTools } from './merchant/shop.ts';

const id = 'npc.merchant.haggle';
const file = readModelOption();
const model = file === undefined ? scriptedModel(haggling) : await loadModel(file);

// Copy the files, because one of them will change.
const folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
cpSync(join(import.meta.dirname, 'modules'), folder, { recursive: true });
const session = createSession({ slices: [purse] });
const engine = await createModuleEngine({
  source: folderModules(folder),
  signatures: [merchant],
  model,
  tools: shopTools,
  session,
  // No price before she has looked, and no sale before the player has agreed.
  policies: [
    sequentialDependency({ sell_item: ['get_player_gold', 'check_inventory'] }),
    requireApproval({ tools: ['sell_item'] }),
  ],
  approve: () => ({ type: 'approve' }),
});

const ask = async (query: string): Promise<ToolLoopResult> => {
  const result = await engine.invokeWithTools(id, { query });
  console.log(`> ${query}`);
  for (const { name, text } of result.calls) console.log(`  ${name}: ${text.split('\n')[0]}`);
  console.log(result.error?.message ?? result.output);
  return result;
};

const rope = await ask('That rope. I give you eight for it.');
const lantern = await ask('And the lantern, for what it costs you?');
const watch = await engine.watch();
const changed = (async () => {
  for await (const { type } of watch) if (type === 'module-changed') return;
})();
const marta = engine.getModule(id);
assert(marta);
await saveModule(folder, {
  ...marta.definition,
  instruction: `${marta.program.instruction}\nIt rains, and you are in a foul mood.`,
});
await changed;
const greeting = await ask('Good day!');
watch.close();
rmSync(folder, { recursive: true });
assert(session.read(purse) >= 0, 'With any model, she sells no more than the purse can pay.');
console.log(`${session.read(purse)} gold is left.`);
if (file === undefined) {
  assert.deepEqual(
    rope.calls.map(({ outcome }) => outcome?.kind),
    ['denied', 'ok', 'ok', 'ok'],
  );
  assert.deepEqual(
    [rope.output, session.read(purse)],
    [{ response: 'Eight it is, before I change my mind.', price: 8 }, 4],
  );
  assert.deepEqual(
    lantern.calls.map(({ outcome }) => outcome?.kind),
    ['failed'],
  );
  assert.deepEqual(greeting.output, { response: 'What.' });
  console.log('she looked before she sold, never overspent, and changed her mood without a restart');
}
