import type { Finding } from './diagnostic.ts';
import type { ToolReading } from './read-tool.ts';

/** The files of a folder that are no tool files because they belong to one. */
export interface BelongingFiles {
  readonly files: ReadonlySet<string>;
  /** Tools that are none any more, by the command that names them. */
  readonly findings: readonly { readonly file: string; readonly finding: Finding }[];
}

/**
 * Whatever a good command names belongs to it, and so does what says nothing of a tool itself and is named or imported by any file: a bad
 * file costs no good one. A good tool that only belongs to a command is told; `strict` has no such command.
 */
export function findBelonging(found: ReadonlyMap<string, ToolReading>, strict: boolean): BelongingFiles {
  const files = new Set([...found].flatMap(([file, { isNoTool }]) => (isNoTool === true ? [file] : [])));
  const findings: { file: string; finding: Finding }[] = [];
  for (const [file, { commandFiles, reading, parts }] of found) {
    const isGood = commandFiles !== undefined && reading.type === 'read';
    const hidden = isGood ? parts.filter((part) => part !== file && found.get(part)?.reading.type === 'read') : [];
    findings.push(...hidden.map((part) => ({ file, finding: toFinding(part, strict) })));
    const isOwner = isGood && !(strict && hidden.length > 0);
    for (const part of parts) if (part !== file && (isOwner || found.get(part)?.isPlain === true)) files.add(part);
  }
  return { files, findings };
}

function toFinding(part: string, strict: boolean): Finding {
  return {
    severity: strict ? 'error' : 'warning',
    code: 'tool.command.hides',
    message: `\`${part}\` is a tool itself, and as a file of this command it is none.`,
    hint: 'Take its METADATA away, or do not name it here.',
  };
}
