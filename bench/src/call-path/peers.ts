import {
  type CompareOptions,
  compare,
  cpuNow,
  type Extent,
  everything,
  limitRounds,
  type Subject,
} from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { instructions, loops } from './agent-run.ts';
import { loopValidated } from './floors.ts';
import { loadPi, type Pi, piVersions } from './pi.ts';
import { argumentsText, counted, type Input, lookUp, toolDescription, toolName } from './work.ts';

const options: CompareOptions = { rounds: 30, warmUpRounds: 10, now: cpuNow };

/** The loop of pi over the same work: a scripted model asks for one call a turn, validated by pi's own means. */
export async function measurePeers(extent: Extent = everything): Promise<TimeReport> {
  const pi = await loadPi();
  const turns = Math.min(1_000, extent.largest);
  const rows = await compare(
    [
      { name: 'loop floor', operations: turns, prepare: () => () => loopValidated(turns) },
      loops({ name: 'Holdfast', against: [{ name: 'pi', goal: 0.25 }, { name: 'loop floor' }] }, { turns }, turns),
      piLoop(pi, turns),
    ],
    { ...options, ...limitRounds(options, extent) },
  );
  const notes = [
    `CPU time of the process, all threads, of one turn in a loop of ${turns.toLocaleString('en')} turns; one listener each.`,
    'Holdfast: three policies and a log. pi: `runAgentLoop`, no policy and no log.',
  ];
  return { name: 'call-path: peers', notes, versions: piVersions, rows };
}

function piLoop(pi: Pi, turns: number): Subject {
  const tools = [toPiTool(pi)];
  const configuration = { model, convertToLlm: (messages: readonly object[]) => messages };
  return {
    name: 'pi',
    operations: turns,
    against: [{ name: 'Holdfast' }, { name: 'loop floor' }],
    prepare() {
      const stream = scriptedStream(pi, turns);
      const before = counted.calls;
      return async () => {
        const prompts = [{ role: 'user', content: instructions, timestamp: 0 }];
        const context = { systemPrompt: instructions, messages: [], tools };
        await pi.runAgentLoop(prompts, context, configuration, () => undefined, undefined, stream);
        const ran = counted.calls - before;
        if (ran !== turns) throw new Error(`the loop of pi made ${ran} calls, expected ${turns}`);
      };
    },
  };
}

/** The schema of the work in TypeBox. */
function toPiTool({ Type }: Pi): object {
  const closed = { additionalProperties: false };
  const operators = ['eq', 'ne', 'gt'].map((operator) => Type.Literal(operator));
  const parameters = Type.Object(
    {
      entity_id: Type.String({ minLength: 1, maxLength: 64 }),
      include_related: Type.Boolean(),
      limit: Type.Integer({ minimum: 1, maximum: 100 }),
      tags: Type.Array(Type.String({ maxLength: 32 }), { maxItems: 10 }),
      filter: Type.Object({ field: Type.String(), op: Type.Union(operators), value: Type.String() }, closed),
    },
    closed,
  );
  return {
    name: toolName,
    label: toolName,
    description: toolDescription,
    parameters,
    async execute(_id: string, input: Input) {
      const details = await lookUp(input);
      return { content: [{ type: 'text', text: JSON.stringify(details) }], details };
    },
  };
}

const model = { id: 'scripted', api: 'bench', provider: 'bench' };
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { total: 0 } };

/** The least that pi reads of a provider; the arguments are parsed there, as pi's providers do. */
function scriptedStream(pi: Pi, turns: number): Parameters<Pi['runAgentLoop']>[5] {
  let asked = 0;
  return () => {
    asked += 1;
    const reason = asked > turns ? 'stop' : 'toolUse';
    const content =
      reason === 'stop'
        ? [{ type: 'text', text: 'Done.' }]
        : [{ type: 'toolCall', id: `c${asked}`, name: toolName, arguments: JSON.parse(argumentsText) as unknown }];
    const { id, ...origin } = model;
    const message = { role: 'assistant', ...origin, model: id, content, usage, stopReason: reason, timestamp: 0 };
    const stream = pi.createAssistantMessageEventStream();
    stream.push({ type: 'start', partial: message });
    stream.push({ type: 'done', reason, message });
    return stream;
  };
}
