#if os(watchOS)
    #error("swift-dao is not for watchOS: positions of locks in files have more bits than an Int of some watches")
#endif
