import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import {
  Agent,
  tool as agentsTool,
  type Model,
  type ModelResponse,
  Runner,
  setTracingDisabled,
  Usage,
} from '@openai/agents-core';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { tool as aiSdkTool, generateText, isStepCount, type LanguageModel } from 'ai';
import { readCatalogVersion } from 'holdfast-packed-tests/stranger';
import {
  type CompareOptions,
  compare,
  type Extent,
  everything,
  limitRounds,
  type Row,
  type Subject,
} from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { instructions, loops, question } from './agent-run.ts';
import { scriptedProvider, usage } from './ai-sdk-script.ts';
import { argumentsText, inputSchema, makeForecast, toolDescription, toolName } from './forecast.ts';

const callsPerSample = 100;

/** The loops of others over the same work: a scripted model asks for one call a turn, validated by the same schema. */
export async function measurePeers(extent: Extent = everything): Promise<TimeReport> {
  setTracingDisabled(true);
  const few: CompareOptions = { rounds: 12, warmUpRounds: 4 };
  // What one of them takes grows with the square of the turns: a sample of it is a quarter of a minute.
  const fewest: CompareOptions = { rounds: 3, warmUpRounds: 0 };
  const rows: Row[] = [];
  for (const turns of [1, 10, 100, 1_000].filter((length) => length <= extent.largest)) {
    rows.push(...(await compare(subjectsOf(turns), limitRounds(turns > 100 ? fewest : few, extent))));
  }
  const notes = [
    'Loops of one call a turn, time of one turn; the same valibot schema and tool, scripted models, no telemetry.',
    'Holdfast: two policies, transaction, one event, one state write, log. AI SDK model: the same through `aiSdkModel`.',
    'ai (`generateText`) and agents (`Runner` of @openai/agents-core) do less: no policy, no transaction, no state, no log.',
  ];
  const packages = ['ai', '@openai/agents-core'];
  const versions = await Promise.all(packages.map(async (name) => [name, await readCatalogVersion(name)] as const));
  return { name: 'call-path: peers', notes, versions: Object.fromEntries(versions), rows };
}

function subjectsOf(turns: number): readonly Subject[] {
  const prefix = turns === 1 ? '1 turn' : `${turns.toLocaleString('en')} turns`;
  const [ours, ai, agents] = [`${prefix}, Holdfast`, `${prefix}, ai`, `${prefix}, agents`];
  const createModel = () => aiSdkModel(scriptedProvider(turns));
  return [
    loops({ name: ours, against: [{ name: ai }, { name: agents }] }, { turns }, callsPerSample),
    loops(
      { name: `${prefix}, AI SDK model`, against: [{ name: ai }, { name: agents }] },
      { turns, createModel },
      callsPerSample,
    ),
    peer({ name: ai, against: [{ name: ours }] }, turns, prepareGenerateText),
    peer({ name: agents, against: [{ name: ours }] }, turns, prepareAgents),
  ];
}

/** Makes everything that a run needs, untimed, and gives the run, which answers with how many calls there were. */
type PrepareRun = (turns: number) => () => Promise<number>;

function peer(named: Pick<Subject, 'name' | 'against'>, turns: number, prepareRun: PrepareRun): Subject {
  const runs = Math.max(1, Math.round(callsPerSample / turns));
  return {
    ...named,
    operations: runs * turns,
    prepare() {
      const prepared = Array.from({ length: runs }, () => prepareRun(turns));
      return async () => {
        for (const run of prepared) {
          const calls = await run();
          if (calls !== turns) throw new Error(`\`${named.name}\` made ${calls} calls, expected ${turns}`);
        }
      };
    },
  };
}

const standardSchema = toStandardJsonSchema(inputSchema);

type LanguageModelV4 = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>;

function prepareGenerateText(turns: number): () => Promise<number> {
  let asked = 0;
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'script',
    supportedUrls: {},
    async doGenerate() {
      asked += 1;
      if (asked > turns) {
        const content = [{ type: 'text' as const, text: 'Done.' }];
        return { content, finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
      }
      const content = [{ type: 'tool-call' as const, toolCallId: `call-${asked}`, toolName, input: argumentsText }];
      return { content, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
    },
    doStream() {
      throw new Error('`generateText` does not stream');
    },
  };
  let calls = 0;
  const forecast = aiSdkTool({
    description: toolDescription,
    inputSchema: standardSchema,
    execute(input) {
      calls += 1;
      return makeForecast(input);
    },
  });
  return async () => {
    const { text } = await generateText({
      model,
      tools: { [toolName]: forecast },
      stopWhen: isStepCount(turns + 1),
      instructions,
      prompt: question,
    });
    if (text !== 'Done.') throw new Error(`the loop of \`ai\` ended with \`${text}\``);
    return calls;
  };
}

function prepareAgents(turns: number): () => Promise<number> {
  let asked = 0;
  const model: Model = {
    async getResponse(): Promise<ModelResponse> {
      asked += 1;
      const output: ModelResponse['output'] =
        asked > turns
          ? [
              {
                type: 'message',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: 'Done.' }],
              },
            ]
          : [
              {
                type: 'function_call',
                callId: `call-${asked}`,
                name: toolName,
                status: 'completed',
                arguments: argumentsText,
              },
            ];
      return { usage: new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 }), output };
    },
    getStreamedResponse() {
      throw new Error('a run that is not streamed does not stream');
    },
  };
  let calls = 0;
  const forecast = agentsTool({
    name: toolName,
    description: toolDescription,
    parameters: standardSchema,
    execute(input) {
      calls += 1;
      return makeForecast(input);
    },
  });
  const agent = new Agent({ name: 'bench', instructions, tools: [forecast], model });
  const runner = new Runner({ tracingDisabled: true });
  return async () => {
    const { finalOutput } = await runner.run(agent, question, { maxTurns: turns + 1 });
    if (finalOutput !== 'Done.') throw new Error(`the loop of \`agents\` ended with \`${String(finalOutput)}\``);
    return calls;
  };
}
