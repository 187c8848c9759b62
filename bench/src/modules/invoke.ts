import type { Model } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import {
  chainOfThought,
  createModuleEngine,
  type ModuleEngine,
  memoryModules,
  type Prediction,
  predict,
  react,
  type ToolLoopResult,
  wrapTools,
} from '@holdfast/modules';
import { createSession, type Session } from '@holdfast/session';
import { readCatalogVersion } from 'holdfast-packed-tests/stranger';
import { readingForecast, toolName } from '../call-path/forecast.ts';
import { type Against, compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import {
  type Advice,
  advise,
  answering,
  callingInText,
  callingNatively,
  checkAdvice,
  playing,
  question,
  reasoning,
} from './advice.ts';
import { adviseByHand, adviseWithCalls, callBare } from './by-hand.ts';
import { idOf, writeModules } from './module-files.ts';
import { prepareSdk } from './sdk.ts';

const operations = 100;
const calls = 3;
const tools = [readingForecast];

/** Measures a module call, and one with a loop of three tool calls, against hand-written equivalents. */
export async function measureInvokes(extent: Extent = everything): Promise<readonly TimeReport[]> {
  const versions = { ai: await readCatalogVersion('ai') };
  const options = limitRounds({ rounds: 60, warmUpRounds: 20 }, extent);
  return [
    {
      name: 'modules: one invoke',
      notes: [
        'Scripted models that answer at once with two fields. by hand: an async function with its prompt as a text, the model asked, the answer',
        'read and validated with the same schema. ai: `generateText` with `Output.object`, which reads one JSON object in place of fields.',
      ],
      versions,
      rows: await compare(await answers(), options),
    },
    {
      name: `modules: an invoke with ${calls} tool calls, a round each`,
      notes: [
        'by hand: the model asked four times, three calls validated and made as functions. governed: the same with `executeToolCall`.',
        'wrapTools and invokeWithTools: calls in the text. react: calls as providers have them, and one that submits the answer.',
        'ai: `generateText` with the tool and `Output.object`: no policy, no transaction, no log.',
      ],
      versions,
      rows: await compare(await loops(), options),
    },
  ];
}

async function answers(): Promise<readonly Subject[]> {
  const against = [{ name: 'by hand' }];
  const [predictor, thinker] = [
    predict(advise, { model: playing(answering) }),
    chainOfThought(advise, { model: playing(reasoning) }),
  ];
  const engine = await openEngine(playing(answering));
  const invoked = async (prediction: Promise<Prediction<Advice>>): Promise<Advice> => (await prediction).output;
  return [
    each('by hand', [], () => () => adviseByHand(playing(answering), question)),
    each('predict', against, () => () => invoked(predictor.invoke({ question }))),
    each('chainOfThought', against, () => () => invoked(thinker.invoke({ question }))),
    each(
      'engine.invoke',
      [...against, { name: 'predict' }],
      () => () => invoked(engine.invoke(idOf(0), { question }, { signature: advise })),
    ),
    each('ai', against, () => prepareSdk(0)),
  ];
}

async function loops(): Promise<readonly Subject[]> {
  const against = [{ name: 'by hand' }, { name: 'by hand, governed' }];
  const model = playing(callingInText(calls));
  const loop = wrapTools(predict(advise, { model }), { tools });
  const engine = await openEngine(model);
  const typed = react(advise, { model: playing(callingNatively(calls)), tools });
  const withSession = (run: (session: Session) => Promise<Advice>) => () => {
    const session = createSession();
    return () => run(session);
  };
  return [
    each('by hand', [], () => () => adviseWithCalls(playing(callingInText(calls)), question, callBare)),
    each(
      'by hand, governed',
      [{ name: 'by hand' }],
      withSession((session) => adviseWithCalls(playing(callingInText(calls)), question, callGoverned(session))),
    ),
    each(
      'wrapTools',
      against,
      withSession(async (session) => answerOf(await loop.invoke({ question }, { session }))),
    ),
    each(
      'invokeWithTools',
      against,
      withSession(async (session) =>
        answerOf(await engine.invokeWithTools(idOf(0), { question }, { session, signature: advise })),
      ),
    ),
    each(
      'react',
      against,
      withSession(async (session) => answerOf(await typed.run({ question }, { session }))),
    ),
    each('ai', [{ name: 'by hand' }, { name: 'wrapTools' }], () => prepareSdk(calls)),
  ];
}

function openEngine(model: Model): Promise<ModuleEngine> {
  return createModuleEngine({ source: memoryModules(writeModules(1)), signatures: [advise], model, tools });
}

function each(name: string, against: readonly Against[], prepareOne: () => () => Promise<Advice>): Subject {
  return {
    name,
    operations,
    against,
    prepare() {
      const prepared = Array.from({ length: operations }, prepareOne);
      return async () => {
        for (const run of prepared) checkAdvice(await run());
      };
    },
  };
}

function callGoverned(session: Session) {
  return async (round: number, args: unknown): Promise<string> => {
    const call = { id: `call_${round}`, name: toolName, arguments: args };
    const outcome = await executeToolCall(call, { tools, session });
    if (outcome.kind !== 'ok') throw new Error(`a call ended ${outcome.kind}`);
    return outcome.text;
  };
}

function answerOf(result: ToolLoopResult<Advice>): Advice {
  if (result.error !== undefined) throw new Error(`the loop ended: ${result.error.message}`);
  if (result.calls.length < calls) throw new Error(`the loop made ${result.calls.length} calls`);
  return result.output;
}
