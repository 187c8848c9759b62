export const METADATA = {
  name: 'current_weather',
  function: 'currentWeather',
  description: 'The current temperature of a city.',
  dangerous: false,
  // The variables that it sees if granted; `NAME?` is optional.
  environment: ['WEATHER_API_KEY', 'WEATHER_URL'],
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', minLength: 1, maxLength: 100, description: 'Its name' } },
    required: ['city'],
  },
};

export async function currentWeather({ city }, { signal }) {
  const { WEATHER_API_KEY, WEATHER_URL } = process.env;
  const response = await fetch(`${WEATHER_URL}/weather?city=${encodeURIComponent(city)}`, {
    headers: { authorization: `Bearer ${WEATHER_API_KEY}` },
    signal,
  });
  if (!response.ok) throw new Error(`The weather service answers ${response.status}: ${await response.text()}`);
  return await response.json();
}
