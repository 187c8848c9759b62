// npm run bench -- [NAME ...] [--json] [--full]
import { spawnSync } from 'node:child_process';
import { arch, cpus, release, type as systemType, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArguments } from './arguments.ts';
import { formatMachine, formatReport, type Machine, type Report } from './report.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs a program and returns its stdout; its stderr goes to ours. */
function run(command: string, parameters: readonly string[]): string {
  const { status, stdout, error } = spawnSync(command, parameters, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`\`${command} ${parameters.join(' ')}\` ended with ${status}:\n${stdout}`);
  return stdout;
}

const request = parseArguments(process.argv.slice(2));
if ('problem' in request) {
  console.error(request.problem);
  process.exit(2);
}

const machine: Machine = {
  cpu: cpus()[0]?.model ?? 'unknown processor',
  cores: cpus().length,
  memoryGib: Math.round(totalmem() / 2 ** 30),
  system: `${systemType()} ${release()} ${arch()}`,
  node: process.version,
};

// A user's program starts without this checkout's compile cache.
delete process.env['NODE_COMPILE_CACHE'];
// Measures the built packages, as users get them; building is quick if nothing has changed.
console.error('bench: building the packages ...');
run('npm', ['run', '--silent', 'build']);
if (!request.json) console.log(`${formatMachine(machine)}\n`);
const reports: Report[] = [];
for (const name of request.names) {
  console.error(`bench: measuring ${name} ...`);
  // Our own program: it prints a list of reports.
  const measured = JSON.parse(
    run(process.execPath, [
      fileURLToPath(new URL('run-one.ts', import.meta.url)),
      name,
      ...(request.full ? ['--full'] : []),
    ]),
  ) as readonly Report[];
  reports.push(...measured);
  if (!request.json) for (const report of measured) console.log(`${formatReport(report)}\n`);
}
if (request.json) console.log(JSON.stringify({ machine, reports }, null, 2));
