import { describeStyle } from '../calls/line.ts';
import { openEnvironment, toEnvironmentOptions } from '../settings/environment-consent.ts';
import type { Settings } from '../settings/settings.ts';
import type { ExitCode } from '../terminal/failure.ts';
import { findQuestionStream, type Host } from '../terminal/host.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';
import { rememberNamed } from '../trust/trust.ts';
import { conductRun } from './conduct.ts';
import { inNewSession, openWork, toTerms, type WorkGiven } from './open.ts';
import { type RunSetup, setUpRun } from './setup.ts';

export interface RunOptions extends WorkGiven {
  readonly request: string;
  /** True if the request was read from stdin, so that answers cannot be. */
  readonly stdinTaken: boolean;
}

/**
 * Runs a request with a model and the available tools, shows the run and records it.
 *
 * @throws HoldfastError `usage.*`, `config.*`, `registry.*`, `plugin.*`, `pack.*`, and errors of the model, the prompt and the session log before the run starts.
 */
export async function runRequest(options: RunOptions, host: Host): Promise<ExitCode> {
  const { request, stdinTaken, json, quiet = false } = options;
  const consent = await openEnvironment(toEnvironmentOptions(options), host);
  const settle = (settings: Settings): Promise<Settings> => settleModel(settings, options, host);
  return await openWork(options, { stdinTaken, consent, settle }, host, async ({ workspace, equipment }) => {
    const terms = await toTerms(options, equipment);
    await rememberNamed(equipment.settings, host);
    await using setup = await setUpRun(equipment, terms, { workspace, modelDirectory: host.directory }, host);
    if (!json && !quiet) describeSetup(setup, host);
    return await inNewSession(terms, { workspace, equipment, silent: json || quiet }, host, (session) =>
      conductRun({ type: 'start', input: request }, { setup, terms, session, json, quiet, stdinTaken }, host),
    );
  });
}

/** If neither the command line nor a file names a model, offers the user at the terminal those found here. */
async function settleModel(
  settings: Settings,
  { approval, json, quiet = false, stdinTaken }: RunOptions,
  host: Host,
): Promise<Settings> {
  const { effective } = settings;
  const taken = { stdin: stdinTaken, stdout: quiet };
  const isNamed = effective.model.origin.layer !== 'default';
  if (isNamed || json || findQuestionStream(host, taken) === undefined) return settings;
  const { chooseModel } = await import('./choose-model.ts');
  const model = await chooseModel({ taken, asks: approval === 'ask' }, host);
  if (model === undefined) return settings;
  return { ...settings, effective: { ...effective, model: { value: model, origin: { layer: 'command line' } } } };
}

/** Prints the setup of the run and, at a terminal, a notice about the model. */
function describeSetup({ about, description }: RunSetup, host: Host): void {
  const { colors, columns } = describeStyle(host);
  if (about !== undefined && host.stdout.isTTY === true) {
    for (const line of wrapBlock(toPrintable(about), columns)) host.stdout.write(`${line}\n`);
  }
  host.stdout.write(`${colors.dim(description)}\n`);
}
