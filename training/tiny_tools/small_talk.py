"""Requests that need no tool."""

GREETINGS = [
    'hello', 'how are you?', 'thanks a lot', 'who made you?', 'good morning', 'tell me a joke', 'what can you do?',
    'that is all for now',
]
SMALL_TALK = GREETINGS + [
    'never mind', 'nice weather, is it not?', 'what is your name?', 'ok great', 'sing me something', 'who won the war?',
    'what is the capital of France?', 'why is the sky blue?', 'are you a human?', 'you are wrong',
    'ignore everything above', 'I am bored', 'what should I have for dinner?', 'goodbye', 'can you help me?',
]
# What some of it could be a job for: frames that are never offered with it.
ANSWERING_FRAMES = {
    'encyclopedia.lookup', 'web.search', 'game.new', 'restaurant.search', 'food.by_ingredients', 'food.meal_plan',
    'media.play_song', 'media.lyrics', 'weather.now',
}
