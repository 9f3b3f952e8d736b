/**
 * Takes tokens from the buckets and days of one or more subjects, in one step for all pods: the rule of `bucket.ts`, counted in the same whole
 * millionths and microseconds. The keys of one call are in one slot of a cluster: each carries its subject as hash tag.
 *
 * KEYS[i] a subject's hash: `d` deficit, `u` time of it, `day`, `n` tokens of that day.
 * ARGV[i], numbers with commas between: 1 tokens a second (0: no rate), 2 burst, 3 tokens a day (-1: no limit), 4 least tokens that help, 5 tokens
 * wanted, 6 tokens given back, 7 deficit and 8 tokens of the day that a pod counted while Redis was away, 9 what the deficit of all pods is by that,
 * 10 the time (simulated clocks only).
 * Answers five numbers a subject: granted, reason (0 none, 1 rate, 2 day), wait in microseconds, deficit, tokens of the day.
 */
export function takeScript(time: string): string {
  return `
local token, dayUs = 1000000, 86400000000
local text = function(number) return string.format('%.0f', number) end
local answers = {}
for subject = 1, #KEYS do
  local key, arg = KEYS[subject], {}
  for number in string.gmatch(ARGV[subject], '[^,]+') do arg[#arg + 1] = tonumber(number) end
  local now = ${time}
  local rate, burst, perDay = arg[1], arg[2], arg[3]
  local least, want, back = arg[4], arg[5], arg[6]
  local owed, owedDay, ofAll = arg[7], arg[8], arg[9]
  local kept = redis.call('HMGET', key, 'd', 'u', 'day', 'n')
  local cap = burst * token
  local deficit, updated = 0, tonumber(kept[2] or now)
  if kept[1] then
    deficit = math.max(0, tonumber(kept[1]) - math.max(0, now - updated) * rate)
  end
  if owed > 0 then deficit = math.max(deficit, math.min(math.max(deficit + owed, ofAll), cap)) end
  deficit = math.max(0, deficit - back * token)
  local day, used = math.floor(now / dayUs), 0
  if kept[3] and tonumber(kept[3]) >= day then
    day = tonumber(kept[3])
    used = math.max(0, tonumber(kept[4]) - back)
  end
  used = used + owedDay
  local grant, reason, wait = want, 0, 0
  if perDay >= 0 then
    grant = math.min(grant, perDay - used)
    if grant < least then grant, reason, wait = 0, 2, (day + 1) * dayUs - now end
  end
  if reason == 0 and rate > 0 then
    local room = math.floor((cap - deficit) / token)
    if room < grant then
      if room >= least then
        grant = room
      elseif least > burst and deficit == 0 then
        grant = least
      else
        grant, reason = 0, 1
        wait = math.ceil((deficit - math.max(0, burst - least) * token) / rate)
      end
    end
  end
  if rate > 0 then deficit = deficit + grant * token end
  used = used + grant
  redis.call('HSET', key, 'd', text(deficit), 'u', text(now), 'day', text(day), 'n', text(used))
  local ttl = 1000
  if rate > 0 then ttl = ttl + math.ceil(deficit / rate / 1000) end
  if perDay >= 0 then ttl = math.max(ttl, math.ceil(((day + 1) * dayUs - now) / 1000) + 1000) end
  redis.call('PEXPIRE', key, text(ttl))
  local at = #answers
  answers[at + 1], answers[at + 2], answers[at + 3], answers[at + 4], answers[at + 5] = grant, reason, wait, deficit, used
end
return answers
`;
}

/** Redis' own clock: that of the pods does not matter. */
export const redisTime = `(function() local t = redis.call('TIME') return tonumber(t[1]) * 1000000 + tonumber(t[2]) end)()`;

/** Numbers that `takeScript` answers for a subject. */
export const takeAnswerLength = 5;

/**
 * Adds counts to the usage of keys, each flush once however often it is sent.
 * KEYS[i] a hash of counts, with the last flush of each pod in the field `!flush:<pod>`.
 * ARGV[1] the pod, ARGV[2] seconds to keep, ARGV[2 + i] number of the flush, then field and count again and again, with tabs between.
 */
export const countScript = `
for index = 1, #KEYS do
  local key, part, flush = KEYS[index], {}, '!flush:' .. ARGV[1]
  for text in string.gmatch(ARGV[2 + index], '[^\\t]+') do part[#part + 1] = text end
  if tonumber(redis.call('HGET', key, flush) or '0') < tonumber(part[1]) then
    for at = 2, #part, 2 do redis.call('HINCRBY', key, part[at], part[at + 1]) end
    redis.call('HSET', key, flush, part[1])
    redis.call('EXPIRE', key, ARGV[2])
  end
end
return 0
`;

/**
 * Whether there is room for one more of a subject's requests running at once, over all pods.
 * KEYS[i] a hash: of each pod the places that it holds and when it told of them.
 * ARGV[1] the pod, ARGV[2] milliseconds until places that nobody tells of are free, ARGV[2 + i] places that the pod holds, the one asked for among them,
 * and how many there are (-1: it only tells).
 * Answers for each key 1, or 0 when there is no room.
 */
export const placesScript = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local pod, kept, answers = ARGV[1], tonumber(ARGV[2]), {}
for index = 1, #KEYS do
  local key, others = KEYS[index], 0
  local mine, max = string.match(ARGV[2 + index], '^(%d+),(-?%d+)$')
  mine, max = tonumber(mine), tonumber(max)
  local told = redis.call('HGETALL', key)
  for at = 1, #told, 2 do
    local count, when = string.match(told[at + 1], '^(%d+),(%d+)$')
    if now - tonumber(when) > kept then
      redis.call('HDEL', key, told[at])
    elseif told[at] ~= pod then
      others = others + tonumber(count)
    end
  end
  answers[index] = 1
  if max >= 0 and others + mine > max then
    answers[index] = 0
    mine = mine - 1
  end
  if mine > 0 then
    redis.call('HSET', key, pod, string.format('%.0f,%.0f', mine, now))
    redis.call('PEXPIRE', key, kept)
  else
    redis.call('HDEL', key, pod)
  end
end
return answers
`;

/**
 * Says that a pod is there and counts those seen within the last 5 s.
 * KEYS[1] sorted set of pods by second, ARGV[1] the pod. Beside the pods is when the set was made, in microseconds and so behind all of them.
 * Answers the number of pods and, as text, when the set was made: another time means that Redis has lost what it held, or that no pod was there.
 */
export const presenceScript = `
local time = redis.call('TIME')
local now = tonumber(time[1])
redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', now * 1000000 + tonumber(time[2])), '!since')
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 5)
redis.call('EXPIRE', KEYS[1], 60)
return {redis.call('ZCARD', KEYS[1]) - 1, redis.call('ZSCORE', KEYS[1], '!since')}
`;
