"""A few memos on watching films and on other things, and the question that finds the first two: what tests on answers share."""

from __future__ import annotations

QUESTION = "帮我找和观影有关的资源"
MEMOS = {
    456: "最近在看的影视网站合集：\n\n- 片源 https://example.com/films\n- 片单 https://example.com/noir\n\n#观影 #资源",
    123: "豆瓣片单备份\n\n「2025 年想看的十二部」，已看五部 #观影",
    99: "买菜：番茄、鸡蛋",
    77: "跑步 6 公里，膝盖不疼",
}
