import { ask, definePolicy, defineTool, type Effects, type Tool } from '@holdfast/core';
import { type CallOptions, executeToolCall } from '@holdfast/executor';
import { loadTools } from '@holdfast/loader';
import { createSession } from '@holdfast/session';

// A host that waits, for one thing after another, with nothing else that would keep its event loop alive.
const [folder = ''] = process.argv.slice(2);
const forever = (): Promise<never> => new Promise(() => undefined);

function toTool(execute: () => unknown, more: object = {}): Tool {
  const effects: Effects = 'none';
  return defineTool<unknown, unknown>({
    name: 'act',
    description: 'Acts.',
    effects,
    execute: execute as () => never,
    ...more,
  }) as Tool;
}

async function tell(what: string, tool: Tool | undefined, options: Partial<CallOptions> = {}): Promise<void> {
  const tools = tool === undefined ? [] : [tool];
  const outcome = await executeToolCall(
    { name: tool?.name ?? '', arguments: '' },
    { tools, session: createSession(), ...options },
  );
  console.log(what, outcome.kind);
}

let attempts = 0;
const failOnce = (): string => {
  attempts += 1;
  if (attempts === 1) throw new Error('busy');
  return 'done';
};
await tell('retry', toTool(failOnce, { retry: { attempts: 2, delayMs: 20 } }));
await tell('timeout', toTool(forever, { timeoutMs: 20 }));
await tell('deadline', toTool(forever), { timeoutMs: 20 });
const silent = definePolicy({ name: 'silent', check: forever });
await tell('policy', toTool(forever), { policies: [silent], policyTimeoutMs: 20 });
const asking = definePolicy({ name: 'asking', check: () => ask('Really?') });
await tell('approval', toTool(forever), { policies: [asking], approve: forever, approvalTimeoutMs: 20 });
for (const isolation of ['worker', 'subprocess'] as const) {
  const { tools, close } = await loadTools(folder, { isolation });
  for (const tool of tools) {
    await tell(`${isolation} ${tool.name}`, tool);
    await tell(`${isolation} ${tool.name}`, tool);
  }
  await close();
}
console.log('end');
