export { tinyFormat } from './tiny-format.ts';
export { tinyModelUrl } from './tiny-model.ts';
