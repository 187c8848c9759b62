import { describeFound, type FoundModel, findModels } from '../models/found.ts';
import { findQuestionStream, type Host, type OutputStream, type TakenStreams } from '../terminal/host.ts';
import { choose } from '../terminal/prompt.ts';
import { toPrintable } from '../terminal/text.ts';
import { demandTrust } from '../trust/trust.ts';
import { readModelAnswers, rememberModelAnswers } from '../user/config.ts';

export interface ChooseModelOptions {
  /** Streams that are not available for questions. */
  readonly taken: TakenStreams;
  /** True to ask the user; otherwise only saved answers count. */
  readonly asks: boolean;
}

/**
 * Chooses the model of a run without `--model`: one that was found here and that the user has accepted, before or now. `undefined`: the
 * offline model, as always without a terminal.
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
  // If the package is missing, opening the model explains it; there is nothing to save yet.
  if (answer.version !== null) {
    // The question named the package and its version.
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
    message: 'Which model should answer? It receives your request and the tool results. Your choice is saved.',
    options: [
      // Enter alone must not send data anywhere.
      { value: 'offline', label: 'Offline model (rules), this time' },
      ...offered.map((one) => ({ value: one, label: toPrintable(describeFound(one)) })),
      { value: 'never', label: 'Offline model (rules), and do not ask about these again' },
    ],
    initialValue: 'offline',
    input: stdin,
    output,
  });
  return answer ?? 'offline';
}
