import { describeFound, type FoundModel, findModels } from '../models/found.ts';
import { findQuestionStream, type Host, type OutputStream, type TakenStreams } from '../terminal/host.ts';
import { choose } from '../terminal/prompt.ts';
import { toPrintable } from '../terminal/text.ts';
import { demandTrust } from '../trust/trust.ts';
import { readModelAnswers, rememberModelAnswers } from '../user/config.ts';

export interface ChooseModelOptions {
  /** Streams that cannot carry a question. */
  readonly taken: TakenStreams;
  /** Whether somebody is asked; otherwise only what was answered before counts. */
  readonly asks: boolean;
}

/**
 * The model of a run for which nobody names one: one whose key or server is found here and that the user has said yes to, before or now.
 * `undefined`: the stand-in. Without a terminal it always is, whatever is found.
 *
 * @throws HoldfastError `terminal.interrupted` for Ctrl-C, `user_config.invalid`, `user_folder.*`, and as `demandTrust`, because the
 * provider's package is code of the current folder.
 */
export async function chooseModel({ taken, asks }: ChooseModelOptions, host: Host): Promise<string | undefined> {
  const output = findQuestionStream(host, taken);
  if (output === undefined) return undefined;
  const answers = await readModelAnswers(host);
  const found = await findModels(host);
  const kept = found.find(({ provider, version }) => version !== null && answers.get(provider) === true);
  if (kept !== undefined) {
    await trustPackage(kept, { taken, trust: false }, host);
    return kept.name;
  }
  const offered = found.filter(({ provider }) => answers.get(provider) !== false);
  if (!asks || offered.length === 0) return undefined;
  const answer = await ask(offered, output, host);
  if (answer === 'never')
    await rememberModelAnswers(new Map(offered.map(({ provider }) => [provider, false] as const)), host);
  if (typeof answer === 'string') return undefined;
  // Where it is not installed, opening the model says what to do; there is nothing to keep yet.
  if (answer.version !== null) {
    // The question has named package and version.
    await trustPackage(answer, { taken, trust: true }, host);
    await rememberModelAnswers(new Map([[answer.provider, true]]), host);
  }
  return answer.name;
}

async function trustPackage(
  { package: name }: FoundModel,
  use: { readonly taken: TakenStreams; readonly trust: boolean },
  host: Host,
): Promise<void> {
  const code = { names: [name], specifiers: [name], tools: undefined };
  await demandTrust(code, { untrusted: 'refuse', ...use }, { directory: host.directory, host });
}

type Answer = FoundModel | 'offline' | 'never';

async function ask(offered: readonly FoundModel[], output: OutputStream, { stdin }: Host): Promise<Answer> {
  const answer = await choose<Answer>({
    message: 'Which model should answer? It gets the request and what tools read; a yes is kept for later runs.',
    options: [
      // Enter alone must not send anything anywhere.
      { value: 'offline', label: 'The offline stand-in, this time' },
      ...offered.map((one) => ({ value: one, label: toPrintable(describeFound(one)) })),
      { value: 'never', label: 'The offline stand-in, and do not ask about these again' },
    ],
    initialValue: 'offline',
    input: stdin,
    output,
  });
  return answer ?? 'offline';
}
