/** URL of the file with the model's weights, in GGUF format. */
export const tinyModelUrl: URL = new URL('../model.gguf', import.meta.url);
