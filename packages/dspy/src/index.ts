export { type ExportDspyOptions, exportDspy } from './export.ts';
export type { DspyProblem } from './findings.ts';
export {
  type DspyImport,
  type DspyModelSuggestion,
  type DspyReport,
  type ImportDspyOptions,
  importDspy,
} from './import.ts';
export type { DspyFormat } from './state.ts';
