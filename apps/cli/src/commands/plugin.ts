import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { PluginCommand } from '@holdfast/core/types';
import { openEquipment, reportProblems } from '../settings/equipment.ts';
import { findFolder, readSettings } from '../settings/settings.ts';
import { reportFailure } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { Interruptions } from '../terminal/interruptions.ts';
import { describeLeftOut } from '../trust/trust.ts';

/** A command of a plugin. */
export interface ForeignCommand {
  readonly name: string;
  /** Its arguments. */
  readonly words: readonly string[];
}

/**
 * Runs a plugin's command and returns its exit code; `undefined` if no plugin has it. Errors of the command are reported and give
 * exit code 1.
 *
 * @throws HoldfastError as `openEquipment`.
 */
export async function runPluginCommand({ name, words }: ForeignCommand, host: Host): Promise<number | undefined> {
  const found = { untrusted: 'leave-out', tools: false } as const;
  const settings = await readSettings({}, { host, found });
  if (settings.untrusted.length > 0) host.stderr.write(describeLeftOut(settings.untrusted));
  // A typo must cost no more than reading the configuration.
  if (settings.effective.plugins.length === 0) return undefined;
  const equipment = await openEquipment(settings, await findFolder(settings), {}, host);
  try {
    const command = equipment.registry.commands.get(name);
    if (command !== undefined) return await runCommand(command, { name, words }, host);
    // The command may belong to a plugin that was left out.
    reportProblems(equipment, host);
    return undefined;
  } finally {
    await equipment.close();
  }
}

async function runCommand(command: PluginCommand, { name, words }: ForeignCommand, host: Host): Promise<number> {
  using stop = new Interruptions(host);
  try {
    const exitCode: unknown = await command.run(words, {
      print: (text) => void host.stdout.write(text),
      printError: (text) => void host.stderr.write(text),
      directory: host.directory,
      signal: stop.signal,
    });
    if (stop.exitCode !== undefined) return stop.exitCode;
    if (typeof exitCode === 'number' && Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 125) return exitCode;
    throw new TypeError(`expected an exit code from 0 to 125, got \`${String(exitCode).slice(0, 100)}\`.`);
  } catch (cause) {
    // Reported under our own code: the error is the command's, not a wrong usage of this program.
    const message = `The plugin command \`${name}\` failed: ${describeThrown(cause)}`;
    reportFailure(
      new HoldfastError('plugin.failed', message, { data: { reason: 'command', command: name }, cause }),
      host,
    );
    return stop.exitCode ?? 1;
  }
}
