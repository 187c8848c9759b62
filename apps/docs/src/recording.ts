// The recording on the first page: a real run of `holdfast demo`, as an animated SVG.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const columns = 96;
const [charWidth, lineHeight, margin] = [8, 19, 16];
/** Seconds between the steps of a recording, and that its last picture stays. */
const [stepSeconds, restSeconds] = [1.4, 6];

const classes: Readonly<Record<string, string>> = { 1: 'b', 2: 'd', 32: 'g', 33: 'y', 36: 'c' };
const style = [
  'text{font:13.3px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6deeb;white-space:pre}',
  '.b{font-weight:700;fill:#fff}.d{fill:#7f8ea3}.g{fill:#7fd88f}.y{fill:#f2c14e}.c{fill:#6cc7e8}',
].join('');

/** Runs the demo and draws its calls. */
export function recordDemo(): string {
  const program = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url));
  const output = execFileSync(process.execPath, ['--conditions=holdfast-source', program, 'demo'], {
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: '1', NO_COLOR: undefined },
  });
  const [calls = ''] = output.split(/\n\n\S*Why was /);
  return drawRecording(calls);
}

/** Draws colored terminal text, a step for each call. Where motion is not wanted, all of it is there at once. */
export function drawRecording(text: string): string {
  const steps = text
    .trimEnd()
    .split(/\n(?=[^\n ]*call-\d)/)
    .map((step) => step.split('\n').flatMap(wrap));
  const seconds = steps.length * stepSeconds + restSeconds;
  let row = 0;
  const groups = steps.map((lines, index) => {
    const drawn = lines.map((line) => {
      row += 1;
      return `<text x="${margin}" y="${margin + row * lineHeight - 5}">${toSpans(line)}</text>`;
    });
    return `<g style="animation-name:s${index}">${drawn.join('')}</g>`;
  });
  const frames = steps.map((_, index) => {
    const percent = ((100 * index * stepSeconds) / seconds).toFixed(1);
    return index === 0 ? '' : `@keyframes s${index}{0%{opacity:0}${percent}%,100%{opacity:1}}`;
  });
  const motion = `@media (prefers-reduced-motion:no-preference){g{animation:${seconds}s step-end infinite}${frames.join('')}}`;
  const [width, height] = [columns * charWidth + 2 * margin, row * lineHeight + 2 * margin];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    '<title>A run of holdfast demo: a scripted coding agent goes through the real hook</title>',
    `<style>${style}${motion}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#10151d"/>`,
    ...groups,
    '</svg>\n',
  ].join('\n');
}

/** Breaks a line between words; its other lines keep its indentation. Only plain lines are that long. */
function wrap(line: string): string[] {
  if (line.length <= columns || line.includes('\u001B')) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  for (const word of line.trim().split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || `${last} ${word}`.length > columns) lines.push(indent + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function toSpans(line: string): string {
  const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const spans = escaped.split('\u001B[').map((part, index) => {
    const [, code = '', rest = part] = index === 0 ? [] : (/^(\d+)m(.*)$/.exec(part) ?? []);
    const name = classes[code];
    return name === undefined || rest === '' ? rest : `<tspan class="${name}">${rest}</tspan>`;
  });
  return spans.join('');
}
