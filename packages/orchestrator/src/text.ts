export { type Cut, cut, formatCount, formatDuration, listIds, toBlock, toLine } from './plan/text.ts';
export { describeDecision } from './report/report.ts';
