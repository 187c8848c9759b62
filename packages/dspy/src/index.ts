export { type ExportDspyOptions, exportDspy } from './export.ts';
export { type DspyImport, type DspyReport, type ImportDspyOptions, importDspy } from './import.ts';
