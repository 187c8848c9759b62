import { type Command, InvalidArgumentError } from 'commander';
import { addConfigOptions, addTrustOption, type ConfigFlags } from './config-flags.ts';
import type { ExitCode } from './failure.ts';
import { serveHelp } from './help-texts.ts';
import type { Host } from './host.ts';
import { readCount } from './option-values.ts';

interface ServeFlags extends ConfigFlags {
  readonly model?: string;
  readonly host: string;
  readonly port: number;
  readonly parallel: number;
  readonly json?: boolean;
}

export function addServeCommand(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const serve = program
    .command('serve')
    .description("serve a model to programs of this machine that speak OpenAI's API")
    .requiredOption('--openai', 'by chat completions, with tools and streaming')
    .option(
      '--model <model>',
      'local, local:<file>, offline, script:<file>, <provider>:<model> or <plugin>/<model> (default: local)',
    )
    .option('--port <number>', 'port to listen on; 0 takes any that is free', readPort, 8080)
    .option('--host <address>', '127.0.0.1 or ::1', '127.0.0.1')
    .option('--parallel <count>', 'conversations that a local model answers at once; others wait', readCount, 4)
    .option('--json', 'one line of JSON on stdout when it listens: url and model');
  addTrustOption(addConfigOptions(serve))
    .addHelpText('after', serveHelp)
    .action(async ({ config, trust, model, host: address, port, parallel, json }: ServeFlags) => {
      const { serveModel } = await import('./serve-command.ts');
      end(await serveModel({ config, trust, model, address, port, parallel, json: json === true }, host));
    });
}

function readPort(text: string): number {
  const port = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(port) || port < 0 || port > 65_535) {
    throw new InvalidArgumentError('It must be a port, from 0 to 65535.');
  }
  return port;
}
