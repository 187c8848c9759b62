// A program for every runtime: a tool, a policy and a model with in-memory files, using every neutral root.
import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import { offlineModel, offlinePlanner } from '@holdfast/adapter-offline';
import { append, defineSlice, defineTool, type Model, toolOk } from '@holdfast/core';
import { importDspy } from '@holdfast/dspy';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { createFacts, describeCommand, fileFacts, memoryDisk } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { createGuard } from '@holdfast/guard';
import { runAgent as runAgentOfKit } from '@holdfast/kit';
import { createModuleEngine, defineSignature, memoryModules } from '@holdfast/modules';
import { checkPlan, compilePlan, readTrace, reportTrace, runPlan } from '@holdfast/orchestrator';
import { toOtlp } from '@holdfast/otel/otlp';
import { approvals } from '@holdfast/pack-approvals';
import { budgets } from '@holdfast/pack-budgets';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { networkEgress } from '@holdfast/pack-network';
import { provenance } from '@holdfast/pack-provenance';
import { releaseOrder } from '@holdfast/pack-release';
import { shellGuard } from '@holdfast/pack-shell';
import { planningSection, planSlice } from '@holdfast/planning';
import { callBudget } from '@holdfast/policy';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createRegistry } from '@holdfast/registry';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const notes = defineSlice({
  id: 'neutral/notes',
  kind: 'list',
  schema: v.object({ text: v.string() }),
  reducers: { noted: (_state, note) => append(note) },
});

const note = defineTool({
  name: 'note',
  description: 'Note a text.',
  inputSchema: v.object({ text: v.string() }),
  effects: 'state',
  execute({ text }, { session }) {
    session.dispatch({ type: 'noted', payload: { text } });
    return toolOk({ text });
  },
});

const prompt = createPrompt({
  ns: 'neutral',
  key: 'program',
  sections: [
    markdownSection({
      title: 'Notes',
      template: 'Note what you read.',
      tools: [note, ...fileTools()],
      policies: [callBudget({ maxCalls: 9 })],
    }),
    planningSection(),
  ],
});

const asking = defineSignature({
  name: 'neutral.asking',
  inputSchema: v.object({ question: v.string() }),
  outputSchema: v.object({ answer: v.string() }),
});

// A module whose model asks for a call in its text, as one without function calling does.
const modules = memoryModules({
  'manifest.json': JSON.stringify({
    version: '1.0',
    modules: { asking: { path: 'asking.json', hash: null, tags: ['neutral'] } },
  }),
  'asking.json': JSON.stringify({
    module_id: 'asking',
    predictor_type: 'predict',
    signature_name: asking.name,
    demos: [{ inputs: { question: 'Here?' }, outputs: { answer: 'Here.' } }],
    tool_enabled: true,
    metadata: { version: '1.0.0' },
  }),
});

// In place of a provider package's model object.
const sdkModel = aiSdkModel({
  specificationVersion: 'v4',
  provider: 'neutral',
  modelId: 'greeter',
  doStream: async () => ({
    stream: new ReadableStream({
      start(controller) {
        controller.enqueue({ type: 'text-delta', id: '1', delta: 'Hello' });
        controller.enqueue({
          type: 'finish',
          finishReason: { unified: 'stop' },
          usage: { inputTokens: { total: 3 }, outputTokens: { total: 1 } },
        });
        controller.close();
      },
    }),
  }),
});

const createId = (_name: string, digits: number): string => '1'.repeat(digits);

/** Runs everything once and gives what can be compared. */
export async function runEverything(): Promise<object> {
  const session = createSession({ id: 'neutral', slices: [notes] });
  const filesystem = memoryFilesystem({ 'a.txt': 'one\n' });
  const model = scriptedModel([
    { calls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] },
    { calls: [{ name: 'write_file', arguments: { path: 'b.txt', content: 'two\n' } }] },
    { calls: [{ name: 'glob_files', arguments: { pattern: '*.txt' } }] },
    {
      calls: [
        { name: 'note', arguments: '{"text":"done"}' },
        { name: 'planning_setup_plan', arguments: { objective: 'Note', initial_steps: ['Read'] } },
        { name: 'planning_update_step', arguments: { step_id: 1, status: 'done' } },
      ],
    },
    { text: 'All done.' },
  ]);
  const { signal } = new AbortController();
  const run = runAgent({ model, prompt, session, input: 'Go.', resources: { filesystem }, signal, timeoutMs: 60_000 });
  const { status, text, outcomes } = await run.result;

  const refused = await executeToolCall(
    { name: 'note', arguments: '{"text":1,"other":2}' },
    { tools: [note], session: createSession({ slices: [notes] }) },
  );
  const guards = [approvals, budgets, filesystemGuard, networkEgress, provenance, releaseOrder, shellGuard];
  const { policies } = guards.reduce((registry, pack) => registry.use(pack), createRegistry());
  const secret = await executeToolCall(
    { name: 'read_file', arguments: { path: '.env' } },
    {
      tools: fileTools(),
      session: createSession(),
      policies,
      resources: { filesystem: memoryFilesystem({ '.env': 'x' }) },
      facts: createFacts({ describers: [fileFacts()], view: { folder: '/project', workspace: '/project' } }),
    },
  );
  const checked = await checkPlan(
    { status: 'success', nodes: [{ id: 0, tool: 'note', inputs: { text: 'x' } }], final_output_node: 0 },
    { tools: [note] },
  );
  const tools = [...fileTools(), note];
  const compiled = await compilePlan({ request: 'Read a.txt and note "read"', tools, planner: offlinePlanner() });
  const planning = createSession({ slices: [notes] });
  const trace = await runPlan(compiled, { tools, session: planning, resources: { filesystem } });
  const engine = await createModuleEngine({
    source: modules,
    signatures: [asking],
    model: scriptedModel([
      { text: '[[ ## tool_call ## ]]\n{"name":"note","args":{"text":"asked"}}\n\n[[ ## completed ## ]]' },
      { text: '[[ ## answer ## ]]\nEverywhere.\n\n[[ ## completed ## ]]' },
    ]),
    tools: [note],
    session: createSession({ slices: [notes] }),
  });
  const answered = await engine.invokeWithTools('asking', { question: 'Where?' });
  const plain = compileSchema(jsonSchema({ type: 'object', properties: { a: { type: 'integer' } } }));
  const disk = memoryDisk({ '/project/.env': 'x' });
  const facts = describeCommand('cat .e*', { folder: '/project', workspace: '/project', disk });
  const guard = createGuard({ session: createSession(), policies: [callBudget({ maxCalls: 1 })] });
  const guarded = await guard.before({ id: '1', name: 'Bash', input: { command: 'ls' } });
  const ask = (other: Model) =>
    runAgent({ model: other, prompt, session: createSession({ slices: [notes] }), input: 'Hello' }).result;
  return {
    status,
    text,
    outcomes: outcomes.map(({ kind }) => kind).join(' '),
    notes: session.read(notes).toArray(),
    plan: session.read(planSlice)?.status,
    refused: refused.kind,
    secret: secret.kind,
    checked: checked.type,
    planned: [trace.status, ...trace.nodes.map(({ tool, kind }) => `${tool} ${kind}`)],
    traced: [readTrace(planning.records()).digest === compiled.digest, reportTrace(trace).missing.length === 0],
    asked: [answered.reason, answered.output, ...answered.calls.map(({ outcome }) => outcome?.kind)],
    plain: [plain.validate({ a: 1 }).ok, plain.validate({ a: 'x' }).ok],
    read: facts.reads.map(({ path }) => path),
    imported: (await importDspy('{}', { signature: asking })).type,
    guarded: guarded.type,
    offline: (await ask(offlineModel())).status,
    // One copy of the code, whichever way it is imported.
    kit: runAgentOfKit === runAgent,
    spans: JSON.stringify(toOtlp([...session.records()], { sessionId: session.id, createId })).includes('execute_tool'),
    sdk: (await ask(sdkModel)).text,
  };
}
