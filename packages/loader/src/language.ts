export { checkLiteral, type FoundLiteral, type MetadataReading } from './check/literal.ts';
export type {
  ArgumentPassing,
  FunctionWords,
  MetadataFinding,
  MetadataForm,
  MetadataLiteral,
  OwnMetadata,
  Report,
  ToolCommand,
} from './check/types.ts';
export { findProgram } from './files/find-program.ts';
export { type BoundedReading, readBounded, type Stamp } from './files/read-bounded.ts';
export { findRealPath } from './files/real-path.ts';
export { findProgramFolders } from './isolate/bubblewrap.ts';
export { toolEnvironment } from './isolate/environment.ts';
export type {
  Command,
  Language,
  LanguagePart,
  LanguagePartReading,
  LanguageReader,
  NeededFile,
  PinnedTool,
  ProgramAnswer,
  ProgramCall,
  ProgramExit,
  ToolPlace,
  ToolReading,
  ToolSource,
} from './language/types.ts';
export type { ExportedFunction, TakenParameter } from './parse/exported-function.ts';
export { type JsonReading, readJson } from './parse/json.ts';
export type { LiteralPath } from './parse/literal.ts';
export { type Finding, toDiagnostic } from './text/diagnostic.ts';
export { isPlainPath } from './text/hidden-text.ts';
export { toErrorText } from './text/hide-paths.ts';
